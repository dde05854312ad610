import { argon2id, hash, needsRehash, verify } from 'argon2'

/** OWASP's first recommendation for argon2id: 19 MiB, two passes, one lane (Password Storage Cheat Sheet, 2026). */
const PARAMETERS = { type: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

export function hashPassword(password: string): Promise<string> {
  return hash(normalized(password), PARAMETERS)
}

/** @param passwordHash undefined where there is no such account: the answer is no, and takes as long as any other */
export async function isPassword(
  passwordHash: string | undefined,
  password: string,
): Promise<boolean> {
  const isRight = await verify(passwordHash ?? (await nobodysHash), normalized(password))
  return isRight && passwordHash !== undefined
}

export function isOutdated(passwordHash: string): boolean {
  return !passwordHash.startsWith('$argon2id$') || needsRehash(passwordHash, PARAMETERS)
}

/** Keyboards send the same letter as one code point or as two. */
const normalized = (password: string) => password.normalize('NFKC')

const nobodysHash = hashPassword('nobody')
