import { openPostgresInstanceLocks } from './instance-locks.ts'

/** A process that holds the lock of an instance, says so, and lives until it is killed. Arguments: the address, the instance. */
const [url = '', instanceId = ''] = process.argv.slice(2)
const locks = openPostgresInstanceLocks({ url, heartbeatMs: 200 })
await locks.hold(instanceId)
process.stdout.write('held\n')
setInterval(() => {}, 60_000)
