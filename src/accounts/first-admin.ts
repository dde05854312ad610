import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import { findAccount } from './account.ts'
import { hashPassword } from './password.ts'
import { registerAccount } from './register.ts'

/** Makes the administrator whom the settings name, unless there is an account of that name: its password is its own. */
export async function ensureFirstAdmin(db: Database, config: Config): Promise<void> {
  const { ADMIN_USERNAME: username, ADMIN_PASSWORD: password } = config
  if (username === undefined || password === undefined) return
  if ((await findAccount(db, username)) !== undefined) return
  const passwordHash = await hashPassword(password)
  const asker = { actor: 'setting ADMIN_USERNAME', address: null, requestId: null }
  // Another process that starts at this moment may have been faster: then this one finds the name taken.
  await registerAccount(db, asker, { username, passwordHash, role: 'admin' })
}
