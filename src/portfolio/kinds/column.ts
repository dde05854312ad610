/** One column of a template. */
export type Column = {
  name: string
  isRequired: boolean
  description: string
  example: string
}

export const required = (name: string, example: string, description: string): Column => ({
  name,
  isRequired: true,
  description,
  example,
})
export const optional = (name: string, example: string, description: string): Column => ({
  ...required(name, example, description),
  isRequired: false,
})

/** Takes the columns of an errors file back: it is the uploaded file and this one. */
export const REASON = 'reason'
