/** A caller's words as they are compared: case, spaces and end punctuation aside. */
export const folded = (text: string): string =>
  text
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/\s+/gu, " ")
    .replace(/[\p{Terminal_Punctuation}…\s]+$/u, "")
    .trim()
