import { Refusal } from './refusal.ts'

export type Answer = { status: number; text: string; headers?: Record<string, string> }

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
}

const CHALLENGE = { 'www-authenticate': 'Basic realm="Fineract Platform API"' }

export function refusalAnswer(error: unknown, path: string): Answer {
  if (!(error instanceof Refusal)) return containerAnswer(500, path)
  if (error.body === undefined) return containerAnswer(error.status, path)
  return { status: error.status, text: JSON.stringify(error.body) }
}

/** The servlet container's answer, if a request does not reach Fineract's own code, or that code crashes. */
export function containerAnswer(status: number, path: string): Answer {
  const timestamp = new Date().toISOString()
  const text = JSON.stringify({ timestamp, status, error: REASONS[status], path })
  return { status, text, ...(status === 401 ? { headers: CHALLENGE } : {}) }
}

export function tomcatAnswer(): Answer {
  return {
    status: 400,
    text: '<!doctype html><html lang="en"><head><title>HTTP Status 400 – Bad Request</title></head><body><h1>HTTP Status 400 – Bad Request</h1></body></html>',
    headers: { 'content-type': 'text/html;charset=utf-8' },
  }
}
