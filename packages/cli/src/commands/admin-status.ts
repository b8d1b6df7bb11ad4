import type { AdminJobs, AdminOverview, AdminUploadList } from '@lade/client'
import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { countOf, formatBytes } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { styleFor } from '../output/style.ts'
import { formatFacts, formatTable } from '../output/table.ts'
import { formatFromNow } from '../output/times.ts'
import type { Terminal } from '../terminal.ts'

/** Days of the trend that are shown. */
const SHOWN_DAYS = 7
/** Damaged objects that are shown. */
const SHOWN_FINDINGS = 20

/** `lade admin status`: totals and the last days, and `uploads` and `jobs`. */
export function addAdminStatus(admin: Command, terminal: Terminal): void {
  const status = admin
    .command('status')
    .summary('Show what the service stores.')
    .description(
      'Show what all callers have stored, their uploads in flight, and what was charged in the last seven days.',
    )
    .option('--json', 'Print one JSON object, with the last 30 days.')
    .action(async () => {
      const { client } = await connect(status, terminal)
      const overview = await client.admin.overview({ signal: terminal.interruption() })
      if (status.opts().json) return terminal.print(JSON.stringify(overview))
      for (const line of overviewLines(overview, terminal)) terminal.print(line)
    })
  addAccountOptions(status)

  const uploads = admin
    .command('uploads')
    .summary('List uploads in flight.')
    .description('List up to 1000 uploads in flight, with the bytes that they have reserved.')
    .option('--json', 'Print one JSON array.')
    .action(async () => {
      const { client } = await connect(uploads, terminal)
      const { uploads: found } = await client.admin.uploads({ signal: terminal.interruption() })
      if (uploads.opts().json) return terminal.print(JSON.stringify(found))
      if (found.length === 0) return terminal.note('No upload is in flight.')
      for (const line of uploadTable(found, terminal)) terminal.print(line)
    })
  addAccountOptions(uploads)

  const jobs = admin
    .command('jobs')
    .summary('Show provers, background jobs, and damage.')
    .description(
      'Show copies by prover, deals, leases of background jobs, removals, the last scrub, and damaged objects.',
    )
    .option('--json', 'Print one JSON object.')
    .action(async () => {
      const { client } = await connect(jobs, terminal)
      const found = await client.admin.jobs({ signal: terminal.interruption() })
      if (jobs.opts().json) return terminal.print(JSON.stringify(found))
      for (const line of jobLines(found, terminal)) terminal.print(line)
    })
  addAccountOptions(jobs)
}

function overviewLines({ version, stored, uploads, days }: AdminOverview, { stdout }: Terminal): string[] {
  const style = styleFor(stdout)
  const { principals, bytes, files } = stored
  return [
    ...formatFacts(
      [
        ['version', version],
        ['stored', `${formatBytes(bytes)}, ${countOf(files, 'file')} of ${countOf(principals, 'caller')}`],
        ['uploads', `${uploads.running} in flight, ${formatBytes(uploads.reservedBytes)} reserved`],
      ],
      style,
    ),
    '',
    ...formatTable(
      [
        { title: 'day' },
        { title: 'charged', align: 'right' },
        { title: 'files', align: 'right' },
        { title: 'stored', align: 'right' },
      ],
      days
        .slice(-SHOWN_DAYS)
        .map((day) => [
          day.date,
          formatBytes(day.bytes),
          day.files.toLocaleString('en-US'),
          day.storedBytes === null ? '-' : formatBytes(day.storedBytes),
        ]),
      { style },
    ).map((line) => `  ${line}`),
  ]
}

function uploadTable(uploads: AdminUploadList['uploads'], { stdout, now }: Terminal): string[] {
  const at = now()
  return formatTable(
    [
      { title: 'caller', minimum: 20 },
      { title: 'reserved', align: 'right' },
      { title: 'day', rank: 2 },
      { title: 'lease ends', rank: 1 },
      { title: 'process', rank: 3 },
    ],
    uploads.map(({ principal, bytes, day, leaseUntil, instance }) => [
      principal,
      formatBytes(bytes),
      day,
      formatFromNow(leaseUntil, at),
      instance,
    ]),
    { width: stdout.isTTY ? stdout.columns : undefined, style: styleFor(stdout) },
  )
}

function jobLines(jobs: AdminJobs, terminal: Terminal): string[] {
  const { stdout, now } = terminal
  const style = styleFor(stdout)
  const { removals, scrub, findings, findingsCount, waitingFiles, deals, instances } = jobs
  const shown = findings.slice(0, SHOWN_FINDINGS)
  return [
    ...formatFacts(
      [
        ['processes', instances.join(', ') || 'none'],
        ['deals', countsText(deals)],
        ['waiting', `${countOf(waitingFiles, 'small file')} for an aggregate`],
        ['removals', `${removals.waiting} waiting, ${removals.orphans} of them orphans`],
        ['scrub', scrubText(scrub, now())],
        ['damaged', countOf(findingsCount, 'object')],
      ],
      style,
    ),
    '',
    ...formatTable(
      [{ title: 'prover', minimum: 20 }, { title: 'copies' }],
      jobs.provers.map(({ name, isConfigured, copies }) => [
        isConfigured ? name : `${name} (not in LADE_PROVER)`,
        countsText(copies),
      ]),
      { width: stdout.isTTY ? stdout.columns : undefined, style },
    ).map((line) => `  ${line}`),
    '',
    ...formatTable(
      [{ title: 'job' }, { title: 'held by', minimum: 12 }, { title: 'until' }],
      jobs.leases.map(({ name, holder, until, isHeld }) => [
        name,
        isHeld ? holder : 'nobody',
        isHeld ? formatFromNow(until, now()) : '-',
      ]),
      { width: stdout.isTTY ? stdout.columns : undefined, style },
    ).map((line) => `  ${line}`),
    ...(shown.length === 0
      ? []
      : [
          '',
          ...shown.map(
            ({ object, kind, noticedAt }) =>
              `  ${printable(object)} ${kind}, noticed ${formatFromNow(noticedAt, now())}`,
          ),
        ]),
  ]
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${count.toLocaleString('en-US')} ${name}`)
  return parts.join(', ') || 'none'
}

function scrubText(scrub: AdminJobs['scrub'], now: Date): string {
  if (scrub === null) return 'not yet'
  const read = `${countOf(scrub.blobs, 'object')}, ${formatBytes(scrub.bytes)}`
  if (scrub.finishedAt === null) return `running, began ${formatFromNow(scrub.startedAt, now)}: ${read}`
  return `finished ${formatFromNow(scrub.finishedAt, now)}: ${read}`
}
