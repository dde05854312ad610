import { Pool } from 'undici'

export type Post = (path: string, body: string, headers?: Record<string, string>) => Promise<any>

const CONNECTIONS = 32

/** Posts JSON to the service. @throws Error unless it is accepted */
export function poster(url: string): { post: Post; close(): Promise<void> } {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 })
  return {
    async post(path, body, headers = {}) {
      const { statusCode, body: answer } = await pool.request({
        method: 'POST',
        path,
        headers: { 'content-type': 'application/json', ...headers },
        body,
      })
      const text = await answer.text()
      if (statusCode >= 300) throw new Error(`POST ${path}: ${statusCode} ${text}`)
      return JSON.parse(text)
    },
    close: () => pool.close(),
  }
}
