import { readFileSync } from 'node:fs'
import { type Postgres, startPostgres } from '../../src/embedded/postgres.ts'

export const PASSWORD = 'chaos'

/** A start after kill -9 may find remains of the previous process. */
const RESTART_ATTEMPTS = 20
const RESTART_EVERY_MS = 250

export type ChaosDatabase = {
  url: string
  /** Kills it with -9 and starts it again. */
  kill(): Promise<void>
  close(): Promise<void>
}

export async function startSingleDatabase(folder: string, port: number): Promise<ChaosDatabase> {
  const start = () => startPostgres({ folder, password: PASSWORD, port: async () => port })
  let postgres: Postgres = await start()
  return {
    url: postgres.url,
    async kill() {
      killPostmaster(folder)
      for (let attempt = 1; ; attempt++) {
        try {
          postgres = await start()
          return
        } catch (error) {
          if (attempt === RESTART_ATTEMPTS) throw error
          await new Promise(resolve => setTimeout(resolve, RESTART_EVERY_MS))
        }
      }
    },
    close: () => postgres.close(),
  }
}

export function killPostmaster(folder: string): void {
  const [pid] = readFileSync(`${folder}/postmaster.pid`, 'utf8').split('\n')
  process.kill(Number(pid), 'SIGKILL')
}
