const COMPONENT = '#/components/schemas/'

/** An OpenAPI document, with what each of its references refers to in the place of the reference. */
export function inlined(document: any): any {
  const schemas = document.components.schemas
  const inline = (value: any): any => {
    if (Array.isArray(value)) return value.map(inline)
    if (typeof value !== 'object' || value === null) return value
    if (typeof value.$ref === 'string') return inline(schemas[value.$ref.slice(COMPONENT.length)])
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inline(one)]))
  }
  const { paths, webhooks } = document
  return { ...document, paths: inline(paths), webhooks: inline(webhooks) }
}
