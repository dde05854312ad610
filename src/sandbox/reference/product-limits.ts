// The same for the products of all nine lenders.
export const LIMITS = {
  principal: ['100.00', '10000000.00'],
  interestRate: ['0.0', '100.0'],
  numberOfRepayments: [1, 360],
} as const
