// node test/support/engine/heir-process.ts: a worker that suspends itself once it has started. SIGCONT lets it work.
import { readConfig } from '../../../src/config/config.ts'
import { logger } from '../../../src/log/log.ts'
import { startRole } from '../../../src/role.ts'

const config = readConfig(process.env)
await startRole(config, logger(config.LOG_LEVEL))
console.log('started')
process.kill(process.pid, 'SIGSTOP')
