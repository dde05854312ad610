const MAX_ID_CHARACTERS = 100

/**
 * The id, if it can be indexed: a longer one is not a valid external id, may be too long for PostgreSQL's index, and
 * would make a page of a thousand rows huge.
 */
export const indexable = (id: string | undefined) =>
  id === undefined || id.length > MAX_ID_CHARACTERS ? null : id
