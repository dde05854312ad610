import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { PRIVATE_FILE } from './private-folder.ts'

/** Enough bytes that nobody can guess them, and few enough to paste. */
const SECRET_BYTES = 24

export type Secrets = Record<
  'INTERNAL_TOKEN' | 'JWT_SECRET' | 'ADMIN_USERNAME' | 'ADMIN_PASSWORD' | 'POSTGRES_PASSWORD',
  string
>

export function embeddedSecrets(file: string): Secrets {
  if (existsSync(file)) return savedIn(file)
  const generated = {
    INTERNAL_TOKEN: secret(),
    JWT_SECRET: secret() + secret(),
    ADMIN_USERNAME: 'admin',
    ADMIN_PASSWORD: secret(),
    POSTGRES_PASSWORD: secret(),
  }
  // The file is renamed when complete: without its password the data could not be opened again.
  writeFileSync(`${file}.new`, `${JSON.stringify(generated, null, 2)}\n`, { mode: PRIVATE_FILE })
  renameSync(`${file}.new`, file)
  return generated
}

function savedIn(file: string): Secrets {
  const text = readFileSync(file, 'utf8')
  try {
    return JSON.parse(text)
  } catch {
    // The error has no cause, whose message would quote the secrets.
    throw new Error(`${file} is damaged: restore it, or remove its folder to start over`)
  }
}

const secret = () => randomBytes(SECRET_BYTES).toString('hex')
