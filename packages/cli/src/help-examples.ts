import type { Command } from 'commander'

/** The name and the summary of the command `help`, in every group of commands. */
export const HELP_COMMAND = ['help [command]', 'Show help for a command.'] as const

/** Example command lines by the full name of their command, as `--help` shows them. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  put: [
    'lade put photo.jpg',
    'lade put -r site --days 90',
    'lade put --private report.pdf',
    'tar c photos | lade put - --name photos.tar',
  ],
  deploy: ['lade deploy site', 'lade deploy site --days 90 --json'],
  get: [
    'lade get CID',
    'lade get CID -o photo.jpg',
    'lade get CID -o - | tar x',
    'lade get CID -o site',
    'lade get CID/docs/guide.pdf',
  ],
  ls: [
    'lade ls',
    'lade ls CID/docs',
    'lade ls --kind image --ends-within 7',
    'lade ls --type image/png photo',
    'lade ls --json',
  ],
  edit: ['lade edit CID --private', 'lade edit CID --name report.pdf --days 90'],
  rm: ['lade rm CID', 'lade rm --yes CID CID'],
  share: ['lade share CID', 'lade share CID --hours 720'],
  deals: ['lade deals', 'lade deals --status failed', 'lade deals DEAL'],
  'deals extend': ['lade deals extend DEAL --days 30', 'lade deals extend DEAL --until 2027-06-30'],
  'deals redundancy': ['lade deals redundancy DEAL 3'],
  'deals proofs': ['lade deals proofs DEAL', 'lade deals proofs DEAL --json'],
  challenge: ['lade challenge CID', 'lade challenge CID --nonce "2026-11-23"'],
  login: [
    'lade login',
    'lade login --url https://lade.example --email ada@example.org',
    'lade login --token-file token.txt',
  ],
  logout: ['lade logout', 'lade logout --revoke'],
  usage: ['lade usage', 'lade usage --json'],
  'token new': [
    'lade token new --email ada@example.org --label laptop',
    'lade token new --email ci@example.org --scopes put --days 30',
  ],
  'token ls': ['lade token ls'],
  'token revoke': ['lade token revoke laptop', 'lade token revoke laptop --keep-links'],
  'wallet new': ['lade wallet new wallet.key'],
  'wallet address': ['lade wallet address wallet.key'],
  'admin status': ['lade admin status'],
  'admin uploads': ['lade admin uploads'],
  'admin jobs': ['lade admin jobs', 'lade admin jobs --json'],
  'admin callers': ['lade admin callers', 'lade admin callers --order today --limit 10'],
  'admin caller': ['lade admin caller ada@example.org', 'lade admin caller 192.0.2.7'],
  'admin limit': [
    'lade admin limit ada@example.org --daily 20GB --stored 1TB',
    'lade admin limit ada@example.org --daily default',
  ],
  'admin files': ['lade admin files', 'lade admin files --caller ada@example.org holiday'],
  'admin audit': [
    'lade admin audit token.revoked',
    'lade admin audit --export audit.jsonl',
    'lade admin audit --verify',
    'lade admin audit --verify audit.jsonl',
  ],
  'admin block': [
    'lade admin block CID --reason "Copyright complaint 1234"',
    'lade admin block CID --reason "Malware" --delete',
  ],
  'admin unblock': ['lade admin unblock CID'],
  'admin blocks': ['lade admin blocks', 'lade admin blocks --json'],
  'admin block-caller': [
    'lade admin block-caller --email spam@example.org --reason "Spam" --files remove',
    'lade admin block-caller --network 192.0.2.0/24 --reason "Scraping"',
  ],
  'admin unblock-caller': ['lade admin unblock-caller 3'],
  'admin blocked-callers': ['lade admin blocked-callers'],
  'admin forget': [
    'lade admin forget --email ada@example.org --export ada.jsonl --dry-run',
    'lade admin forget --email ada@example.org --yes',
  ],
  hash: ['lade hash photo.jpg', 'lade hash --json photo.jpg'],
  verify: ['lade verify CID photo.jpg', 'lade verify --car CID dag.car'],
  serve: [
    'lade serve',
    'lade serve --public-url https://lade.example --data-dir /srv/lade',
    'LADE_DATABASE=postgres://lade:secret@db.internal/lade lade serve --storage s3://lade',
  ],
  'keys show': ['lade keys show'],
  'keys rotate': ['lade keys rotate --data-dir /srv/lade', 'lade keys rotate --overlap 7'],
  'keys mint': [
    'lade keys mint --email ada@example.org',
    'lade keys mint --email ci@example.org --scopes put --ttl-days 30',
    'lade keys mint --email ops@example.org --scopes admin --label console --ttl-days 30',
  ],
  'keys revoke': [
    'lade keys revoke --email ada@example.org',
    'lade keys revoke --jti 3f0c9c1e-5f0b-4c52-8f3c-0d8a9a1c7e55',
  ],
  backup: ['lade backup /backup/lade --data-dir /srv/lade', 'lade backup /backup/lade --verify new --bandwidth 50'],
  restore: ['lade restore /backup/lade --data-dir /srv/lade-new'],
  'migrate-storage': [
    'lade migrate-storage --dry-run --to-database postgres://lade@db.internal/lade',
    "lade migrate-storage --to-storage 's3://lade?endpoint=https://s3.internal'",
  ],
  'chain deploy': [
    'lade chain deploy --rpc http://127.0.0.1:8545 --key deployer.key',
    'lade chain deploy --rpc https://rpc.example --key deployer.key --usdc 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    'lade chain deploy --rpc https://rpc.example --key deployer.key --usdc 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913 --first-deal 1000000 --out next.json',
  ],
  prover: ['lade prover', 'LADE_PROVER_PORT=8091 lade prover'],
  devnet: ['lade devnet', 'lade devnet --port 8080 --provers 3 --dir ./devnet'],
  doctor: ['lade doctor', 'lade doctor --url https://lade.example', 'lade doctor --data-dir /srv/lade --json'],
  completion: ['source <(lade completion bash)'],
}

/** Adds its examples to the help of every command below `program`. */
export function addExamples(program: Command, names: readonly string[] = []): void {
  for (const command of program.commands) {
    const path = [...names, command.name()]
    const lines = EXAMPLES[path.join(' ')]
    const title = lines?.length === 1 ? 'Example' : 'Examples'
    if (lines !== undefined) command.addHelpText('after', `\n${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`)
    addExamples(command, path)
  }
}
