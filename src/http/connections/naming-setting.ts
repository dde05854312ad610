import { ConfigError } from '../../config/config.ts'

const NO_ADDRESS = ['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL']
const EXAMPLES = { PORT: 3_100, OPS_PORT: 9_090 }
const WHY: Record<string, string> = {
  EADDRINUSE: 'is in use',
  EACCES: 'needs rights that this user does not have',
}

/** @throws ConfigError that names the setting because of which the server cannot listen */
export async function namingSetting<T>(
  { host, port, setting }: { host: string; port: number; setting: 'PORT' | 'OPS_PORT' },
  listening: Promise<T>,
): Promise<T> {
  try {
    return await listening
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const cause = { cause: error }
    if (NO_ADDRESS.includes(code))
      throw new ConfigError(
        `HOST is invalid: this machine has no address ${host}. Example: HOST=0.0.0.0`,
        cause,
      )
    if (WHY[code] === undefined) throw error
    throw new ConfigError(
      `${setting} is invalid: port ${port} ${WHY[code]}. Example: ${setting}=${EXAMPLES[setting]}`,
      cause,
    )
  }
}
