type Reply = { header(name: string, value: string): unknown }

/** Makes the answer a CSV file that a browser saves under this name. */
export function csvDownload<R extends Reply>(reply: R, filename: string): R {
  reply.header('content-type', 'text/csv; charset=utf-8')
  reply.header('content-disposition', `attachment; filename="${filename}"`)
  return reply
}
