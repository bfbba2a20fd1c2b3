/* Wine 8 lacks bcryptprimitives.dll, and every Rust program imports ProcessPrng from it: without this
   library it ends with status 53 before main. Built and placed into Wine's prefix by portability.sh. */
#include <windows.h>

BOOLEAN WINAPI SystemFunction036(PVOID buffer, ULONG length); /* RtlGenRandom, in advapi32 */

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length)
{
    const SIZE_T most = 1 << 20;
    for (SIZE_T done = 0; done < length;) {
        SIZE_T part = length - done < most ? length - done : most;
        if (!SystemFunction036(buffer + done, (ULONG)part))
            return FALSE;
        done += part;
    }
    return TRUE;
}
