import type { SandboxGateways } from './gateway-server.ts'

export const gatewaySettings = ({ urlA, urlB, key, secret, secretB }: SandboxGateways) => ({
  GATEWAY_A_API_URL: urlA,
  GATEWAY_A_API_KEY: key,
  GATEWAY_A_API_SECRET: secret,
  GATEWAY_B_API_URL: urlB,
  GATEWAY_B_API_KEY: key,
  GATEWAY_B_API_SECRET: secretB,
})
