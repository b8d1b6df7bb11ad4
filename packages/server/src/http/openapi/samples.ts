import type { Operation } from './operation.ts'

/** A sample as documentation pages show it (`x-codeSamples`). */
export interface CodeSample {
  readonly lang: 'Shell' | 'JavaScript' | 'Python'
  readonly label: string
  readonly source: string
}

/** CIDs of the file that the samples upload: `Hello, world` and a line break. */
export const SAMPLE_CID = 'bafkreibxtagdhfi542yoiugdoansdg7652jqkrdql5rxzuivrnrye65tsa'
/** Of the folder that has it as hello.txt. */
const SAMPLE_FOLDER = 'bafybeifmeh47j6qioz4ef77pc5zbxfuxdfnd65pr347deoalpgxj7whsmm'
const SAMPLE_SHA256 = '37980c33951de6b0e450c3701b219bfeee930544705f637cd1158b63827bb390'

/** Of content that no sample uploads. */
const UNWANTED_SHA256 = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'

const AUTHORIZED = '--header "Authorization: Bearer $TOKEN"'
/** A token with the scope admin. */
const AS_ADMIN = '--header "Authorization: Bearer $ADMIN_TOKEN"'

/**
 * Commands by operation. They use the file that the sample of an upload makes, TOKEN, DEAL_ID and JTI from earlier responses, and the
 * ADMIN_TOKEN of an operator.
 */
const CURL: Readonly<Record<string, string>> = {
  signUp: `curl {url}/api/auth/signup --json '{"email": "ada@example.org", "label": "laptop"}'`,
  openSession: `curl {url}/api/session --cookie-jar cookies.txt \\
  --header 'Origin: {url}' \\
  --json '{"token": "'"$TOKEN"'"}'`,
  getSession: 'curl {url}/api/session --cookie cookies.txt',
  closeSession: `curl --request DELETE {url}/api/session --cookie cookies.txt \\
  --header 'Origin: {url}'`,
  startLogin: `curl {url}/api/auth/start --json '{"email": "ada@example.org", "label": "laptop"}'`,
  verifyLogin: `curl {url}/api/auth/verify --json '{"challenge": "'"$CHALLENGE"'", "code": "123456"}'`,
  uploadFile: `echo 'Hello, world' > hello.txt
curl "{url}/api/upload?cid=$(sha256sum hello.txt | cut -c 1-64)" \\
  ${AUTHORIZED} \\
  --header 'Content-Type: text/plain; charset=utf-8' \\
  --header 'X-Filename: hello.txt' \\
  --data-binary @hello.txt`,
  putUploadFile: `curl --upload-file hello.txt "{url}/api/upload?cid=$(sha256sum hello.txt | cut -c 1-64)" \\
  ${AUTHORIZED} \\
  --header 'Content-Type: text/plain; charset=utf-8'`,
  openTusUpload: `curl --include {url}/api/tus \\
  ${AUTHORIZED} \\
  --header 'Tus-Resumable: 1.0.0' \\
  --header 'Upload-Length: 13' \\
  --header "Upload-Metadata: filename $(printf hello.txt | base64)" \\
  --data ''`,
  continueTusUpload: `UPLOAD=$(curl {url}/api/tus --output /dev/null --write-out '%header{location}' \\
  ${AUTHORIZED} \\
  --header 'Tus-Resumable: 1.0.0' \\
  --header 'Upload-Length: 13' \\
  --data '')
curl --request PATCH "$UPLOAD" \\
  ${AUTHORIZED} \\
  --header 'Tus-Resumable: 1.0.0' \\
  --header 'Upload-Offset: 0' \\
  --header 'Content-Type: application/offset+octet-stream' \\
  --data-binary @hello.txt`,
  continueUpload: `UPLOAD=$(curl {url}/api/upload --output /dev/null --write-out '%header{location}' \\
  ${AUTHORIZED} \\
  --header 'Upload-Complete: ?0' \\
  --header 'Content-Type: text/plain' \\
  --data '')
curl --request PATCH "$UPLOAD" \\
  ${AUTHORIZED} \\
  --header 'Upload-Complete: ?1' \\
  --header 'Upload-Offset: 0' \\
  --header 'Content-Type: application/partial-upload' \\
  --data-binary @hello.txt`,
  cancelUpload: `UPLOAD=$(curl {url}/api/upload --output /dev/null --write-out '%header{location}' \\
  ${AUTHORIZED} \\
  --header 'Upload-Complete: ?0' \\
  --header 'Content-Type: text/plain' \\
  --data '')
curl --request DELETE "$UPLOAD" \\
  ${AUTHORIZED}`,
  terminateTusUpload: `UPLOAD=$(curl {url}/api/tus --output /dev/null --write-out '%header{location}' \\
  ${AUTHORIZED} \\
  --header 'Tus-Resumable: 1.0.0' \\
  --header 'Upload-Length: 13' \\
  --data '')
curl --request DELETE "$UPLOAD" \\
  ${AUTHORIZED} \\
  --header 'Tus-Resumable: 1.0.0'`,
  composeFile: `curl '{url}/api/compose?cid=${SAMPLE_SHA256}' \\
  ${AUTHORIZED} \\
  --json '{"parts": ["${SAMPLE_SHA256}"], "contentType": "text/plain", "filename": "hello.txt"}'`,
  makeDirectory: `curl {url}/api/directories \\
  ${AUTHORIZED} \\
  --json '{"entries": [{"path": "hello.txt", "cid": "${SAMPLE_CID}"}], "filename": "my folder"}'`,
  listEntries: `curl {url}/api/files/${SAMPLE_FOLDER}/entries`,
  uploadBatch: `curl --fail --output files.car '{url}/ipfs/${SAMPLE_CID}?format=car'
curl {url}/api/batches \\
  ${AUTHORIZED} \\
  --header 'Content-Type: application/vnd.ipld.car' \\
  --data-binary @files.car`,
  getContent: `curl --fail --output hello.txt {url}/p/${SAMPLE_CID}`,
  headContent: `curl --head {url}/p/${SAMPLE_CID}`,
  getBlocks: `curl --fail --output hello.car '{url}/ipfs/${SAMPLE_CID}?format=car'`,
  headBlocks: `curl --head '{url}/ipfs/${SAMPLE_CID}?format=raw'`,
  findLfsObjects: `curl {url}/lfs/project/objects/batch \\
  --user "git:$TOKEN" \\
  --json '{"operation": "upload", "objects": [{"oid": "${UNWANTED_SHA256}", "size": 3}]}'`,
  uploadLfsObject: `echo 'A design' > design.psd
curl --upload-file design.psd "{url}/lfs/project/objects/$(sha256sum design.psd | cut -c 1-64)" \\
  --user "git:$TOKEN"`,
  getContentAtPath: `curl --fail --output hello.txt {url}/ipfs/${SAMPLE_CID}/`,
  headContentAtPath: `curl --head {url}/ipfs/${SAMPLE_CID}/`,
  getFileInFolder: `curl --fail --output hello.txt {url}/p/${SAMPLE_CID}/`,
  headFileInFolder: `curl --head {url}/p/${SAMPLE_CID}/`,
  getPiece: 'curl --fail --output hello.txt "{url}/piece/$PIECE_CID"',
  headPiece: 'curl --head "{url}/piece/$PIECE_CID"',
  challengeContent: `curl {url}/p/${SAMPLE_CID}/challenge --json '{"nonce": "'"$(date +%s%N)"'"}'`,
  listPieceCids: `curl '{url}/api/piece-cids?cid=${SAMPLE_CID}' \\
  ${AUTHORIZED}`,
  findPieceCids: `curl {url}/api/piece-cids \\
  ${AUTHORIZED} \\
  --json '{"cids": ["${SAMPLE_CID}"]}'`,
  listFiles: `curl '{url}/api/files?limit=10' \\
  ${AUTHORIZED}`,
  getFile: `curl {url}/api/files/${SAMPLE_CID} \\
  ${AUTHORIZED}`,
  changeFile: `curl --request PATCH {url}/api/files/${SAMPLE_CID} \\
  ${AUTHORIZED} \\
  --json '{"filename": "greeting.txt"}'`,
  pingPieces: 'curl {url}/pdp/ping',
  findPiece: 'curl "{url}/pdp/piece?pieceCid=$PIECE_CID"',
  findProviders: `curl {url}/routing/v1/providers/${SAMPLE_CID}`,
  removeFile: `curl --request DELETE {url}/api/files/${SAMPLE_CID} \\
  ${AUTHORIZED}`,
  shareFile: `curl {url}/api/files/${SAMPLE_CID}/share \\
  ${AUTHORIZED} \\
  --json '{"ttlSeconds": 3600}'`,
  claimFile: `secret=$(head -c 24 /dev/urandom | base64 | tr '+/' '-_')
printf '%s' "$secret" > claimed.txt
cid=$(sha256sum claimed.txt | cut -c 1-64)
curl "{url}/api/upload?cid=$cid" \\
  --header 'Content-Type: text/plain' \\
  --header "X-Claim-Digest: $(printf '%s' "$secret" | tr -- '-_' '+/' | base64 --decode | sha256sum | cut -c 1-64)" \\
  --data-binary @claimed.txt
curl "{url}/api/files/$cid/claim" \\
  ${AUTHORIZED} \\
  --json '{"secret": "'"$secret"'"}'`,
  getUsage: `curl {url}/api/usage \\
  ${AUTHORIZED}`,
  listDeals: `curl '{url}/api/deals?limit=10' \\
  ${AUTHORIZED}`,
  getDeal: `curl "{url}/api/deals/$DEAL_ID" \\
  ${AUTHORIZED}`,
  getDealProofs: `curl "{url}/api/deals/$DEAL_ID/proofs" \\
  ${AUTHORIZED}`,
  extendDeal: `curl "{url}/api/deals/$DEAL_ID/extend" \\
  ${AUTHORIZED} \\
  --json '{"days": 30}'`,
  setRedundancy: `curl --request PUT "{url}/api/deals/$DEAL_ID/redundancy" \\
  ${AUTHORIZED} \\
  --json '{"copies": 1}'`,
  getAdminOverview: `curl {url}/api/admin/overview \\
  ${AS_ADMIN}`,
  listPrincipals: `curl '{url}/api/admin/principals?order=stored&limit=10' \\
  ${AS_ADMIN}`,
  getPrincipal: `curl {url}/api/admin/principals/ada@example.org \\
  ${AS_ADMIN}`,
  setLimits: `curl --request PUT {url}/api/admin/principals/ada@example.org/limits \\
  ${AS_ADMIN} \\
  --json '{"dailyMb": 2048, "storedMb": null}'`,
  listRunningUploads: `curl {url}/api/admin/uploads \\
  ${AS_ADMIN}`,
  listAllFiles: `curl '{url}/api/admin/files?q=hello&limit=10' \\
  ${AS_ADMIN}`,
  getAdminJobs: `curl {url}/api/admin/jobs \\
  ${AS_ADMIN}`,
  listAuditLog: `curl '{url}/api/admin/audit?limit=10' \\
  ${AS_ADMIN}`,
  exportAuditLog: `curl --output audit.jsonl {url}/api/admin/audit.jsonl \\
  ${AS_ADMIN}`,
  blockContent: `curl {url}/api/admin/blocks \\
  ${AS_ADMIN} \\
  --json '{"cid": "${UNWANTED_SHA256}", "reason": "A complaint"}'`,
  listBlocks: `curl {url}/api/admin/blocks \\
  ${AS_ADMIN}`,
  unblockContent: `curl --request DELETE {url}/api/admin/blocks/${UNWANTED_SHA256} \\
  ${AS_ADMIN}`,
  blockCaller: `curl {url}/api/admin/blocked-callers \\
  ${AS_ADMIN} \\
  --json '{"network": "198.51.100.0/24", "reason": "Spam", "files": "keep"}'`,
  listBlockedCallers: `curl {url}/api/admin/blocked-callers \\
  ${AS_ADMIN}`,
  unblockCaller: `curl --request DELETE {url}/api/admin/blocked-callers/1 \\
  ${AS_ADMIN}`,
  exportPersonalData: `curl --output personal-data.jsonl {url}/api/admin/personal-data/export \\
  ${AS_ADMIN} \\
  --json '{"caller": "nobody@example.org"}'`,
  erasePersonalData: `curl {url}/api/admin/personal-data/erase \\
  ${AS_ADMIN} \\
  --json '{"caller": "nobody@example.org"}'`,
  listTokens: `curl {url}/api/tokens \\
  ${AUTHORIZED}`,
  revokeToken: `curl {url}/api/tokens/revoke \\
  ${AUTHORIZED} \\
  --json '{"jti": "'"$JTI"'"}'`,
}

const SIGN_UP_JS = `const response = await fetch('{url}/api/auth/signup', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ email: 'ada@example.org', label: 'laptop' }),
})
console.log(await response.json())`

const UPLOAD_JS = `import { createHash } from 'node:crypto'

const bytes = Buffer.from('Hello, world\\n')
const cid = createHash('sha256').update(bytes).digest('hex')
const response = await fetch(\`{url}/api/upload?cid=\${cid}\`, {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.TOKEN}\`,
    'content-type': 'text/plain; charset=utf-8',
    'x-filename': encodeURIComponent('hello.txt'),
  },
  body: bytes,
})
console.log(await response.json())`

const LIST_JS = `const response = await fetch('{url}/api/files?limit=10', {
  headers: { authorization: \`Bearer \${process.env.TOKEN}\` },
})
console.log(await response.json())`

const GET_JS = `const response = await fetch('{url}/p/${SAMPLE_CID}')
if (!response.ok) throw new Error(await response.text())
console.log(await response.text())`

const SIGN_UP_PYTHON = `import json, urllib.request

body = json.dumps({"email": "ada@example.org", "label": "laptop"}).encode()
request = urllib.request.Request("{url}/api/auth/signup", body, {"Content-Type": "application/json"})
with urllib.request.urlopen(request) as response:
    print(response.read().decode())`

const UPLOAD_PYTHON = `import hashlib, os, urllib.request

content = b"Hello, world\\n"
cid = hashlib.sha256(content).hexdigest()
request = urllib.request.Request(
    f"{url}/api/upload?cid={cid}",
    content,
    {
        "Authorization": "Bearer " + os.environ["TOKEN"],
        "Content-Type": "text/plain; charset=utf-8",
        "X-Filename": "hello.txt",
    },
)
with urllib.request.urlopen(request) as response:
    print(response.read().decode())`

const LIST_PYTHON = `import os, urllib.request

request = urllib.request.Request(
    "{url}/api/files?limit=10", headers={"Authorization": "Bearer " + os.environ["TOKEN"]}
)
with urllib.request.urlopen(request) as response:
    print(response.read().decode())`

const GET_PYTHON = `import urllib.request

with urllib.request.urlopen("{url}/p/${SAMPLE_CID}") as response:
    print(response.read().decode())`

const JAVASCRIPT: Readonly<Record<string, string>> = {
  signUp: SIGN_UP_JS,
  uploadFile: UPLOAD_JS,
  listFiles: LIST_JS,
  getContent: GET_JS,
}
const PYTHON: Readonly<Record<string, string>> = {
  signUp: SIGN_UP_PYTHON,
  uploadFile: UPLOAD_PYTHON,
  listFiles: LIST_PYTHON,
  getContent: GET_PYTHON,
}

/** Samples of an operation, which run as they are. An operation without a command of its own gets one made of its path. */
export function samplesOf(url: string, method: string, path: string, operation: Operation): readonly CodeSample[] {
  const { operationId } = operation
  const curl = CURL[operationId] ?? plainCurl(method, path, operation)
  const sources = [
    { lang: 'Shell', label: 'curl', source: curl },
    { lang: 'JavaScript', label: 'JavaScript', source: JAVASCRIPT[operationId] },
    { lang: 'Python', label: 'Python', source: PYTHON[operationId] },
  ] as const
  return sources.flatMap(({ source, ...sample }) =>
    source === undefined ? [] : [{ ...sample, source: source.replaceAll('{url}', url) }],
  )
}

function plainCurl(method: string, path: string, { security, parameters = [] }: Operation): string {
  const how = method === 'head' ? '--head ' : method === 'get' ? '' : `--request ${method.toUpperCase()} `
  const inPath = path.replace(/\{(\w+)\}/g, (_, name: string) => variableOf(name))
  const inQuery = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required === true)
    .map(({ name }, index) => `${index === 0 ? '?' : '&'}${name}=${variableOf(name)}`)
  const needsToken = security.length > 0 && security.every((requirement) => Object.keys(requirement).length > 0)
  return `curl ${how}"{url}${inPath}${inQuery.join('')}"${needsToken ? ` \\\n  ${AUTHORIZED}` : ''}`
}

/** @example variableOf('pieceCid') // '$PIECE_CID' */
function variableOf(name: string): string {
  return `$${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}
