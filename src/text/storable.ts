const REPLACEMENT = '\ufffd'
/** An escaped NUL or lone surrogate, after any number of escaped backslashes. */
const UNSTORABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g

/** PostgreSQL stores neither NUL nor lone surrogates. */
export function storableText(text: string): string {
  return text.replaceAll('\0', REPLACEMENT).toWellFormed()
}

/** JSON of a value whose texts may have characters that PostgreSQL cannot store. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSTORABLE, `$1${REPLACEMENT}`)
}
