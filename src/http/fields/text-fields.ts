import { Kind, Type, TypeRegistry } from '@sinclair/typebox'
import { UUID } from '../../ids.ts'
import { BLANK } from '../../text/trimmed.ts'
import { lowerCase, TAKE, trimText } from './take-values.ts'
import { WHY, type Why, whyText } from './why.ts'

export const WITHOUT_NUL = '^[^\\u0000]*$'
const NOT_NUL = /[^\0]/

// The handler checks such a text, because its refusal has a code of its own.
TypeRegistry.Set('Described', (_, value) => typeof value === 'string')

/** Documents the format without enforcing it: the handler treats a malformed value like an unknown one. */
export const described = (pattern: string, description: string, example: string) =>
  Type.Unsafe<string>({
    [Kind]: 'Described',
    type: 'string',
    pattern,
    description,
    examples: [example],
  })

const ID = '019a0000-0000-7000-8000-000000000000'
export const Id = Type.Unsafe<string>({ ...described(UUID, 'an id', ID), [TAKE]: lowerCase })
/** An id that its handler need not check. */
export const checkedId = (description: string) =>
  Type.String({ [TAKE]: lowerCase, pattern: UUID, description, examples: [ID] })
/** The parameters of a page, whose handler finds only ids. */
export const IdParams = Type.Object({ id: checkedId('an id') })

const CONTROL = '\\u0000-\\u001f\\u007f'
const NOT_CONTROL = new RegExp(`[^${CONTROL}]`)

/** The caller's own id, which is neither `.` nor `..`, which servers resolve in paths. */
const EXTERNAL_ID = new RegExp(
  `^[${BLANK}]*(\\.{1,2}[^.${CONTROL}][^${CONTROL}]*|\\.{3}[^${CONTROL}]*|[^.\\s${BLANK}${CONTROL}][^${CONTROL}]*)$`,
)

export const ExternalId = idText(100, 'an external id:', 'L-1001')

export const ClientId = { ...ExternalId, examples: ['C-1001'] }

export const whyIssuedId = whyId(200)

/** The id of something at a gateway, which our paths have as well. */
export const IssuedId = (example: string) => idText(200, 'a text of', example)

function idText(max: number, what: string, example: string) {
  return Type.String({
    [WHY]: whyId(max),
    [TAKE]: trimText,
    minLength: 1,
    maxLength: max,
    pattern: EXTERNAL_ID.source,
    description: `${what} 1 to ${max} characters, none of them a control character`,
    examples: [example],
  })
}

/** A text that is not blank: Fineract treats a blank text as absent. */
export const Text = (maxLength: number, example: string) =>
  Type.String({
    [TAKE]: trimText,
    [WHY]: whyText({ max: maxLength, allowed: NOT_CONTROL }),
    maxLength,
    // The pattern never backtracks (blanks, one non-blank, anything), and excludes NUL, which PostgreSQL cannot store.
    pattern: `^[${BLANK}]*[^\\s${BLANK}${CONTROL}][^${CONTROL}]*$`,
    description: `a text of 1 to ${maxLength} characters`,
    examples: [example],
  })

export const freeText = ({ min = 1, max }: { min?: number; max: number }, example: string) =>
  Type.String({
    [WHY]: whyText({ min, max, allowed: NOT_NUL }),
    minLength: min,
    maxLength: max,
    pattern: WITHOUT_NUL,
    description: `a text of ${min} to ${max} characters`,
    examples: [example],
  })

const note = freeText({ max: 1_000 }, 'Agreed with the borrower by telephone')
export const Note = { ...note, [TAKE]: trimText }

function whyId(max: number): Why {
  return value => whyText({ max, allowed: NOT_CONTROL })(value) ?? 'is only dots'
}

/** The check of an id that no schema has checked. */
export const isExternalId = (text: string) => text.length <= 100 && EXTERNAL_ID.test(text)
