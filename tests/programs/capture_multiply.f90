! Multiplies two matrices, column by column as Fortran lays them out.
program multiply
  implicit none
  integer, parameter :: n = 16
  real(8) :: a(n,n), b(n,n), c(n,n)
  integer :: i, j, k
  call random_number(a)
  call random_number(b)
  c = 0
  do j = 1, n
    do k = 1, n
      do i = 1, n
        c(i,j) = c(i,j) + a(i,k) * b(k,j)
      end do
    end do
  end do
  print *, sum(c) > 0
end program
