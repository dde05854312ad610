export const exportOnly = (...names: string[]) =>
  names.map(name => ({ name, title: name, isExportOnly: true }))
