export const CONFIRM_CRASH_POINTS = ['confirm.answered', 'confirm.kept'] as const
