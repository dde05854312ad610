/** The folder of the files that are read at run time: migrations, assets, package.json. */
export const PROJECT_FOLDER = new URL('../../', import.meta.url)
