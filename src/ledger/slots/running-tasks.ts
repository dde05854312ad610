type Task<Lane> = { lane: Lane; since: number; isReplaced: boolean }

/** @param most tasks whose slots may be given away at a time */
export function openRunningTasks<Lane>(most: number) {
  const running = new Set<Task<Lane>>()

  return {
    begin(lane: Lane): Task<Lane> {
      const task = { lane, since: performance.now(), isReplaced: false }
      running.add(task)
      return task
    },
    /** @returns whether the task's slot is free again; otherwise another task already has it */
    end(task: Task<Lane>): boolean {
      running.delete(task)
      return !task.isReplaced
    },
    /** Gives away the slots of tasks that have been running for this long. @returns the lane of each */
    replaceHung(afterMs: number): Lane[] {
      const others = [...running].filter(({ isReplaced }) => !isReplaced)
      const left = most - (running.size - others.length)
      const hung = others.filter(({ since }) => performance.now() - since >= afterMs).slice(0, left)
      for (const one of hung) one.isReplaced = true
      return hung.map(({ lane }) => lane)
    },
  }
}
