import { Value } from '@sinclair/typebox/value'
import { ConfigError } from '../config/config.ts'
import { openDatabase } from '../database/database.ts'
import { requireUpToDate } from '../database/migrate/migrate.ts'
import { programAsker } from './audit.ts'
import { NewPassword, Username } from './credentials.ts'
import { askPassword } from './passwords/ask-password.ts'
import { hashPassword } from './passwords/password.ts'
import { refuseWeakTyped } from './passwords/refuse-weak.ts'
import { registerAccount } from './register.ts'

export async function createAdmin(databaseUrl: string, username: string | undefined) {
  if (username === undefined || !Value.Check(Username, username))
    throw new ConfigError(
      `--username must be ${Username.description}. Example: --username asha.rao`,
    )
  const password = await askPassword()
  if (!Value.Check(NewPassword, password))
    throw new ConfigError(`The password must be ${NewPassword.description}`)
  await refuseWeakTyped({ username, password })

  const db = openDatabase(databaseUrl, { max: 1, name: 'loanops-create-admin', onError() {} })
  try {
    await requireUpToDate(db)
    const asker = programAsker('command create-admin')
    const passwordHash = await hashPassword(password)
    const wanted = { username, passwordHash, role: 'admin', madeByCommand: true } as const
    const account = await registerAccount(db, asker, wanted)
    if (account === undefined) throw new ConfigError(`The account ${username} already exists`)
  } finally {
    await db.destroy()
  }
  process.stdout.write(`Created administrator ${username}\n`)
}
