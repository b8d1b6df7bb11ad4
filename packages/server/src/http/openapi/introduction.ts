import { SAMPLE_CID } from './samples.ts'

/** Where the guides are shown. */
export const GUIDES_PATH = '/docs/guides'

const GUIDES: readonly (readonly [page: string, what: string])[] = [
  ['protocol/uploads', 'uploads: ids, limits, retries, big files'],
  ['protocol/content-ids', 'content ids: which there are, and how each is checked'],
  ['protocol/retrieval', 'downloads: ranges, caching, private files, share links'],
  ['protocol/gateway', 'blocks and CARs: the IPFS gateway'],
  ['protocol/tokens', 'tokens: scopes, quotas, revoking'],
  ['protocol/wallets', 'wallets instead of tokens'],
  ['protocol/files', 'your files and your usage'],
  ['protocol/deals', 'deals, copies and proofs'],
  ['protocol/admin', 'for operators: callers, files, limits, audit log'],
  ['protocol/errors', 'errors'],
  ['use/command-line', 'the command line'],
  ['operate/README', 'running a service'],
]

/** What the documentation starts with, in Markdown: a first upload that runs as it is, and the guides. */
export function introduction(url: string): string {
  return `Lade stages files for content-addressed storage networks. Upload a file under its content id, and anyone can download it at
\`/p/{cid}\`.

## First upload

\`\`\`sh
echo 'Hello, world' > hello.txt
curl "${url}/api/upload?cid=$(sha256sum hello.txt | cut -c 1-64)" \\
  --header 'Content-Type: text/plain' --data-binary @hello.txt
curl ${url}/p/${SAMPLE_CID}
\`\`\`

Without a token, the upload counts against the quota of your IP address. With a token, the file is yours: you can list it, share it, and
remove it.

\`\`\`sh
curl ${url}/api/auth/signup --json '{"email": "ada@example.org", "label": "laptop"}'
export TOKEN=pk_live_...
\`\`\`

## Guides

${GUIDES.map(([page, what]) => `- [${what[0]?.toUpperCase()}${what.slice(1)}](${GUIDES_PATH}/${page})`).join('\n')}
- [All guides](${GUIDES_PATH})

[Error codes](/docs/errors)`
}
