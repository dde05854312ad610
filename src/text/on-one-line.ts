const UNREADABLE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/** A text that others wrote, for a terminal: a line break could forge a line there, and other characters hide or turn one. */
export const onOneLine = (text: string) =>
  text.replace(UNREADABLE, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
