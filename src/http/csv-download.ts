type Reply = { header(name: string, value: string): unknown }

export function csvDownload<R extends Reply>(reply: R, filename: string): R {
  reply.header('content-type', 'text/csv; charset=utf-8')
  reply.header('content-disposition', `attachment; filename="${filename}"`)
  return reply
}
