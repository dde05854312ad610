/**
 * A pattern in the form that regular expressions of every language read: PHP and Go know no `\u`. Characters beyond
 * Latin-1 are left out: those of our patterns are blanks that are trimmed, so that without them a pattern allows a
 * little more.
 */
export function portablePattern(pattern: string): string {
  return pattern
    .replace(/\\u00([0-9a-f]{2})/g, '\\x$1')
    .replace(/\\u[0-9a-f]{4}(-\\u[0-9a-f]{4})?/g, '')
}
