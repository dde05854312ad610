/** Members of operations' data, and of the ledger's answers, that contain names, numbers, addresses or notes. */
export const PERSONAL_MEMBERS =
  /(first|last|middle|full|display|client|officer|user)_?name$|^name$|mobile|phone|e_?mail|^notes?$|^address/i
