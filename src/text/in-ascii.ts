/** Every dash and the minus sign. */
const DASHES = /[\p{Pd}\u2212]/gu

/** A text with ordinary characters in place of the full-width ones and dashes that keyboards and programs write. */
export const inAscii = (text: string) => text.normalize('NFKC').replace(DASHES, '-')
