! Module arrays, a common block, a saved local array, an allocatable array: column by column in memory.
module grid
  implicit none
  real(8) :: a(10, 20)
  integer :: low(-2:3, 0:4)
  type cell
     real(4) :: u, v
  end type
  type(cell) :: cells(6)
  real(8), allocatable :: heap(:, :)
  character(len=8) :: words(3)
end module

subroutine fill()
  use grid
  implicit none
  real(8) :: shared(3, 4), tail(5)
  common /block/ shared, tail
  integer, save :: kept(2, 3, 4)
  integer :: i
  do i = 1, 10
     a(i, 1) = i
  end do
  low(-2, 0) = 1
  kept(1, 2, 3) = 4
  print *, kept(i - 10, 2, 3)
  shared(2, 2) = 1.0
  tail(1) = 2.0
  cells(2)%u = 3.0
  words(1) = 'hello'
  allocate(heap(4, 5))
  heap = 1.0
end subroutine

program main
  use grid
  call fill()
  print *, a(1, 1), heap(1, 1)
end program
