/** A person's text in a sentence of ours: no quotation mark of its own may seem to end it. */
export const quoted = (text: string) => `“${text.replace(/[“”]/g, '"')}”`
