export const capitalised = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)

/** `gateway_a` becomes "GatewayA". */
export const inPascalCase = (name: string) => name.split('_').map(capitalised).join('')
