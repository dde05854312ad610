import type { Config } from '../config/config.ts'
import type { Database } from '../database/database.ts'
import { findAccount } from './account.ts'
import { programAsker } from './audit.ts'
import { hashPassword } from './passwords/password.ts'
import { refuseWeakTyped } from './passwords/refuse-weak.ts'
import { registerAccount } from './register.ts'

/** Makes the first administrator. An existing account of that name keeps its password. */
export async function ensureFirstAdmin(db: Database, config: Config): Promise<void> {
  const { ADMIN_USERNAME: username, ADMIN_PASSWORD: password } = config
  if (username === undefined || password === undefined) return
  if ((await findAccount(db, username)) !== undefined) return
  // A password that is the name is only warned of.
  if (password.toLowerCase() !== username.toLowerCase())
    await refuseWeakTyped({ username, password }, 'ADMIN_PASSWORD')
  const passwordHash = await hashPassword(password)
  const asker = programAsker('setting ADMIN_USERNAME')
  // If another starting process was faster, this finds the name taken and does nothing.
  await registerAccount(db, asker, { username, passwordHash, role: 'admin' })
}
