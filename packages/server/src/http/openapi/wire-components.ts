import * as wire from '@lade/core/wire'
import type * as z from 'zod'

/**
 * The names that wire shapes have as components of the OpenAPI document. A shape of a body that is missing here is named after its
 * operation.
 */
export const WIRE_COMPONENTS: Readonly<Record<string, z.core.$ZodType>> = {
  Problem: wire.problem,
  UploadResult: wire.uploadResult,
  ComposeRequest: wire.composeRequest,
  FileEntry: wire.fileEntry,
  FileList: wire.fileList,
  ShareRequest: wire.shareRequest,
  ShareResult: wire.shareResult,
  Usage: wire.usageResult,
  PieceCidsRequest: wire.pieceCidsRequest,
  PieceCidsItem: wire.pieceCidsItem,
  PieceCidsResult: wire.pieceCidsResult,
  DealEntry: wire.dealEntry,
  DealCopy: wire.dealCopy,
  DealList: wire.dealList,
  DealAudit: wire.dealAudit,
  DealProofs: wire.dealProofs,
  ExtendRequest: wire.extendRequest,
  RedundancyRequest: wire.redundancyRequest,
  LeafProof: wire.leafProof,
  ChallengeRequest: wire.challengeRequest,
  ChallengeResult: wire.challengeResult,
  SignupRequest: wire.signupRequest,
  SignupResult: wire.signupResult,
  StartRequest: wire.startRequest,
  StartResult: wire.startResult,
  VerifyRequest: wire.verifyRequest,
  KeySet: wire.jwksResult,
  TokenList: wire.tokenList,
  RevokeRequest: wire.revokeRequest,
  RevokeResult: wire.revokeResult,
  WalletNonceResult: wire.walletNonceResult,
  WalletVerifyRequest: wire.walletVerifyRequest,
  WalletVerifyResult: wire.walletVerifyResult,
  AdminOverview: wire.adminOverview,
  AuditEntry: wire.auditEntry,
  AuditPage: wire.auditPage,
  Info: wire.infoResult,
  Health: wire.healthResult,
  Readiness: wire.readyResult,
}
