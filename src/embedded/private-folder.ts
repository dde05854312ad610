import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { OrdinaryUser } from './ordinary-user.ts'

/** Of a file with client data or secrets. */
export const PRIVATE_FILE = 0o600
const PRIVATE_FOLDER = 0o700
/** Others may pass through it if they are in its group, but list nothing. */
const PASSABLE_FOLDER = 0o710

/**
 * Makes a folder that nobody else can read, or makes one so that is there, with the files directly in it.
 * @param guest may pass through it, to a folder of its own in it
 */
export function privateFolder(folder: string, guest: OrdinaryUser | undefined): void {
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER })
  if (guest) chownSync(folder, -1, guest.gid)
  chmodSync(folder, guest ? PASSABLE_FOLDER : PRIVATE_FOLDER)
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isFile()) chmodSync(join(folder, entry.name), PRIVATE_FILE)
}
