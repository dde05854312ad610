export const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/
