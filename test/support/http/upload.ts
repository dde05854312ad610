import { TOKEN } from '../service.ts'

/** Uploads a file with these fields before it. */
export async function upload(
  url: string,
  file: { name: string; content: string | Blob | Uint8Array<ArrayBuffer> },
  fields: Record<string, string> = {},
) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new Blob([file.content]), file.name)
  const headers = { 'x-internal-token': TOKEN }
  const response = await fetch(url, { method: 'POST', body: form, headers })
  return { status: response.status, body: (await response.json()) as any }
}
