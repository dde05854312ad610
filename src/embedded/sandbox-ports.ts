import { ConfigError, readSandboxPort } from '../config/config.ts'
import { freePort } from './free-port.ts'

type Start<T> = (port: number) => Promise<T>

/** The ports are the same from start to start, so that what a tester noted stays right. */
export function sandboxPorts(env: NodeJS.ProcessEnv) {
  const first = readSandboxPort(env)
  const isGiven = Boolean(env.SANDBOX_PORT?.trim())
  const startAt = async <T>(place: number, start: Start<T>): Promise<T> => {
    const port = first === 0 ? 0 : first + place
    try {
      return await start(port)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
      if (!isGiven) return start(0)
      const example = `SANDBOX_PORT=${first + 10}`
      throw new ConfigError(
        `SANDBOX_PORT is invalid: port ${port} is in use. Example: ${example}`,
        { cause: error },
      )
    }
  }
  return {
    ledger: <T>(start: Start<T>) => startAt(0, start),
    gateways: <T>(start: Start<T>) => startAt(1, start),
    postgres: () => startAt(2, freePort),
  }
}
