/** Where a process can die while it asks a gateway to confirm an event. */
export const CONFIRM_CRASH_POINTS = ['confirm.answered', 'confirm.kept'] as const
