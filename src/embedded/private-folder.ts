import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { OrdinaryUser } from './ordinary-user.ts'

export const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700
/** Members of the folder's group may traverse it, but not list it. */
const TRAVERSABLE_FOLDER = 0o710

/** @param guest may traverse the folder to reach its own folder inside */
export function privateFolder(folder: string, guest: OrdinaryUser | undefined): void {
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER })
  if (guest) chownSync(folder, -1, guest.gid)
  chmodSync(folder, guest ? TRAVERSABLE_FOLDER : PRIVATE_FOLDER)
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isFile()) chmodSync(join(folder, entry.name), PRIVATE_FILE)
}
