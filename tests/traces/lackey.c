/* gcc -O1 -nostdlib -static -fno-pie -no-pie -fno-stack-protector -fcf-protection=none -o tiny tiny.c */
static volatile long cells[4];
void _start(void)
{
    for (long i = 0; i < 4; i++)
        cells[i] = i;
    for (long i = 0; i < 4; i++)
        cells[i] += 3;
    __asm__ volatile("mov $60, %eax; xor %edi, %edi; syscall");
}
