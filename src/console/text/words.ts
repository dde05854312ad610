/** `no_loan_named` becomes "no loan named". */
export function words(name: string | null): string {
  return (name ?? '').replaceAll('_', ' ')
}

/** `payment.assign` becomes "payment assign". */
export const actInWords = (act: string) => words(act).replace('.', ' ')
