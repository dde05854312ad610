export async function runFailover(seed: number): Promise<boolean> {
  return seed < 0
}
