import { plainName } from './header.ts'
import { UnreadableFile } from './unreadable-file.ts'

export type FileType = {
  /** The type's name, such as `a file of loans`. */
  title: string
  /** The remedy for a file of this type that came to the wrong place. */
  remedy: string
  /** @param columns as `plainName` gives them */
  isHeader(columns: string[]): boolean
}

/** @throws UnreadableFile that says what the file is and what to do */
export function refuseOtherTypes(header: string[], wanted: string, others: FileType[]): void {
  const columns = header.map(plainName)
  const other = others.find(({ isHeader }) => isHeader(columns))
  if (other !== undefined)
    throw new UnreadableFile(`This is ${other.title}, not ${wanted}: ${other.remedy}`)
}
