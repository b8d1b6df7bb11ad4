/**
 * How much of every fault is tried. `LADE_TEST_PLAN=full` is the whole plan; without it the same tests run with fewer
 * rounds, so that the project ends within a few minutes on two cores.
 */
const isFull = process.env.LADE_TEST_PLAN === 'full'

const MB = 1024 * 1024

function count(ordinary: number, full: number): number {
  return isFull ? full : ordinary
}

/** Options of a test that only the full plan runs. */
export const FULL_PLAN_ONLY = { meta: { skippedBecause: 'only the full plan runs it: npm run test:full' } }

export const PLAN = {
  isFull,
  /** Rounds of parallel uploads at the edge of a quota, for each arrangement of callers and processes. */
  quotaRounds: count(1, 20),
  /** Uploads at once in one such round. */
  quotaUploads: 200,
  /** Uploads that are cut off by their sender. */
  abortedUploads: count(100, 1000),
  /** Ends of a process by SIGKILL under load. */
  kills: count(4, 100),
  /** How many of these share a data directory before the next one starts empty. */
  killsPerDirectory: 5,
  /** Ends of a process by SIGKILL, and power cuts, while files are uploaded in several requests. */
  resumedKills: count(5, 100),
  resumedPowerCuts: count(2, 50),
  /** Ends by SIGKILL of one of two processes on one data directory. */
  killsBesideSurvivor: count(1, 10),
  /** Ends by SIGKILL of one of three processes on one port. */
  memberKills: count(1, 10),
  /** Ends by SIGKILL of one of three processes on one port, while it is watched how long clients wait. */
  membersKilled: count(2, 200),
  /** System calls of one upload at which the process is killed; the full plan takes every one. */
  syscallKills: count(8, Number.POSITIVE_INFINITY),
  /** Jumps of the system clock, by as much and met as they come in the list of the test. */
  clockJumps: count(1, 50),
  /** Connections of an attack on what the service can do at once, and for how long. */
  attackConnections: count(30, 300),
  attackMs: count(1000, 20_000),
  /** How often each costly request is sent to measure it. */
  costlyRequests: count(5, 30),
  /** Files of the user whose listing is measured. */
  listedFiles: count(200, 10_000),
  /** The size of an upload that shares the service with others. */
  sharedUploadBytes: count(64 * MB, 5 * 1024 * MB),
  /** The size of a file that is challenged. */
  challengedBytes: count(32 * MB, 1024 * MB),
  /** Connections that ask for a document, or a big file, and read nothing, and for how long. */
  slowReaders: count(50, 300),
  slowFileReaders: count(50, 500),
  slowReadersMs: count(1000, 90_000),
  /** How long files are uploaded, read and removed while every alert must stay silent. */
  alertSilenceMs: count(20_000, 3_600_000),
  /** Uploads that a full disk must refuse. */
  refusedByFullDisk: count(40, 200),
  /** Power cuts under load. */
  powerCuts: count(4, 100),
  /** Power cuts without durable writes, of which at least one must lose something. */
  powerCutControls: count(2, 5),
  /** Rounds on a disk that fails once and whose power is cut later, and how many without the mend, each of which must lose something. */
  failingDiskRounds: count(1, 100),
  failingDiskControls: count(1, 10),
  /** Files of a service that is backed up under load; the full plan alone does that. */
  backupFiles: count(200, 10_000),
  /** Backups and restores of a service under load, one after the other. */
  backupRounds: count(2, 50),
  /** Ends by SIGKILL of a backup and of a restore, each. */
  backupKills: count(2, 10),
  /** Ends by SIGKILL of a process that makes deals on a chain. */
  dealKills: count(6, 300),
  /** Reorganisations of a chain while deals are made on it. */
  chainReorgs: count(10, 100),
  /** Stops by SIGTERM with uploads under way. */
  drains: count(2, 20),
  /** Ends by SIGKILL of one of three instances on PostgreSQL and S3, and how many there are between two looks at everything. */
  fleetKills: count(4, 300),
  fleetKillsPerCheck: count(4, 10),
  /** Immediate stops of the database of a fleet. */
  postgresStops: count(2, 50),
  /** Removals that a gateway of the object store executes late, after the same bytes were uploaded again; at once, and how often. */
  lateRemovals: count(20, 50),
  lateRemovalRounds: count(1, 6),
  /** Outages of the object store of a fleet. */
  s3Outages: count(2, 50),
  /** Connections to the database that are cut during a COMMIT: half of them before it arrives, half before its answer does. */
  cutCommits: count(10, 200),
  cutCommitsPerCheck: count(10, 20),
  /** Rounds of parallel uploads at the edge of a quota, over three instances. */
  fleetQuotaRounds: count(1, 20),
  /** The same at the edge of what may be stored. */
  fleetStoredRounds: count(3, 20),
  /** Requests for blocked content, once a block is two seconds old, over three instances under load. */
  blockedRequests: count(1000, 10_000),
  /** Rolling restarts of a fleet while it answers 100 requests a second. */
  rollingRestarts: count(1, 5),
  /** Stops by SIGTERM of one instance of a fleet. */
  fleetDrains: count(3, 50),
  /** Uploads under ids that are fake, wrong by a little, or right in an odd spelling. */
  generatedIds: count(500, 5000),
  /** Files that are placed with provers that fail at random. */
  stormFiles: count(60, 2000),
  /** Flips of one bit in what a stopped service has stored. */
  bitFlips: count(16, 500),
  /** The same, in PostgreSQL and in S3. */
  fleetBitFlips: count(15, 300),
  /** The size of the upload during which memory is watched. */
  bigUploadBytes: count(256 * MB, 5120 * MB),
  /** The size of the file that is put while its service and its client are killed, and who is killed, in order. */
  interruptedPutBytes: count(400 * MB, 1536 * MB),
  putInterruptions: isFull
    ? (['server', 'client', 'server', 'client', 'server'] as const)
    : (['server', 'client'] as const),
} as const
