/**
 * Nobody means these behind an ASCII character, unless they belong to another script's text that follows; the others change
 * the order in which a text is read.
 */
const UNSEEN =
  /(?<=[\0-\x7f])[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]+(?=[\0-\x7f]|$)|[\u202a-\u202e\u2066-\u2069]/gu
/** What a page shows as text; its fields keep their values. */
const SHOWN = />[^<]*/g

/** A page that shows what else would hide that an id is another one: `L-[U+200B]1001` is not the loan L-1001. */
export function withUnseenShown(page: string): string {
  if (page.search(UNSEEN) < 0) return page
  return page.replaceAll(SHOWN, text => text.replaceAll(UNSEEN, named))
}

const named = (unseen: string) =>
  Array.from(
    unseen,
    one => `[U+${one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
  ).join('')
