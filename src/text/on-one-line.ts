/** A text that others wrote, for a terminal: a line break could forge a line there, and other control characters hide one. */
export const onOneLine = (text: string) =>
  text.replace(/\p{Cc}/gu, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
