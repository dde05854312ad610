import { argon2id, hash, needsRehash, verify } from 'argon2'

/** OWASP's first recommendation for argon2id: 19 MiB, two passes, one lane (Password Storage Cheat Sheet, 2026). */
const PARAMETERS = { type: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

export function hashPassword(password: string): Promise<string> {
  return hash(normalized(password), PARAMETERS)
}

/** @param passwordHash undefined or null if there is no such account or password: false, after the same time as any other */
export async function isPassword(passwordHash: string | null | undefined, password: string) {
  const substitute = await nobodysHash()
  const isRight = await verify(passwordHash ?? substitute, normalized(password))
  return isRight && typeof passwordHash === 'string'
}

export function isHashOutdated(passwordHash: string): boolean {
  return !passwordHash.startsWith('$argon2id$') || needsRehash(passwordHash, PARAMETERS)
}

/** Depending on the keyboard, the same letter arrives as one code point or as two. */
const normalized = (password: string) => password.normalize('NFKC')

let nobodys: Promise<string> | undefined

/**
 * The hash of nobody's password. The first login creates it, because hashing is slow and most processes never see a
 * login.
 */
function nobodysHash(): Promise<string> {
  nobodys ??= hashPassword('nobody').catch(error => {
    nobodys = undefined
    throw error
  })
  return nobodys
}
