let known: Promise<Set<string>> | undefined

/**
 * The passwords are loaded when the first password is chosen, because most processes never see one. All of them are
 * in lower case.
 */
export function commonPasswords(): Promise<Set<string>> {
  known ??= load()
  return known
}

async function load(): Promise<Set<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'])
}
