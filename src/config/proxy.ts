/** The proxy for our HTTPS calls to servers on the internet. A setting that is unset is empty. */
export type OutboundProxy = { httpsProxy: string; noProxy: string }

export const proxyOf = ({ HTTPS_PROXY = '', NO_PROXY = '' }): OutboundProxy => ({
  httpsProxy: HTTPS_PROXY,
  noProxy: NO_PROXY,
})
