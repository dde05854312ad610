export const numberColumn = (name: string, title: string) => ({ name, title, isNumber: true })
