/** For calls over HTTPS to servers on the internet; empty if unset. */
export type OutboundProxy = { httpsProxy: string; noProxy: string }

export const proxyOf = ({ HTTPS_PROXY = '', NO_PROXY = '' }): OutboundProxy => ({
  httpsProxy: HTTPS_PROXY,
  noProxy: NO_PROXY,
})
